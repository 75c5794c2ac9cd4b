resource "aws_db_subnet_group" "croupier" {
  name       = var.name
  subnet_ids = var.private_subnet_ids
}

# Nothing may be logged that orders reports by their arrival: docs/operating.md, Host and Backups.
resource "aws_db_parameter_group" "croupier" {
  name   = var.name
  family = "postgres16"

  parameter {
    name  = "rds.force_ssl"
    value = "1"
  }

  dynamic "parameter" {
    for_each = {
      log_statement                     = "none"
      log_min_duration_statement        = "-1"
      log_connections                   = "0"
      log_disconnections                = "0"
      log_parameter_max_length          = "0"
      log_parameter_max_length_on_error = "0"
      log_min_error_statement           = "panic"
      track_commit_timestamp            = "0"
    }

    content {
      name         = parameter.key
      value        = parameter.value
      apply_method = "pending-reboot"
    }
  }
}

resource "aws_db_instance" "croupier" {
  # checkov:skip=CKV_AWS_129: PostgreSQL's log would leave the host; errors stay on the instance
  # checkov:skip=CKV_AWS_118: Enhanced monitoring samples processes every few seconds: an arrival log
  # checkov:skip=CKV_AWS_353: Performance Insights keeps statements with times: an arrival log
  # checkov:skip=CKV2_AWS_30: Query logging would be an arrival log
  # checkov:skip=CKV_AWS_161: libpq logs in with a password over TLS; croupier asks for no tokens
  identifier = var.name
  db_name    = "croupier"

  engine         = "postgres"
  engine_version = "16"
  instance_class = var.database_class

  allocated_storage = var.database_gigabytes
  storage_type      = "gp3"
  storage_encrypted = true
  kms_key_id        = aws_kms_key.croupier.arn

  # Its password is replaced every week. Use it once, to create the role that croupier logs in with.
  username                      = "administrator"
  manage_master_user_password   = true
  master_user_secret_kms_key_id = aws_kms_key.croupier.arn

  db_subnet_group_name   = aws_db_subnet_group.croupier.name
  parameter_group_name   = aws_db_parameter_group.croupier.name
  vpc_security_group_ids = [aws_security_group.database.id]
  publicly_accessible    = false
  multi_az               = true

  # A backup here holds the log and the sealed reports, in the order of their arrival. It cannot be
  # limited to two tables, so none is kept; back these up as docs/operating.md says, with pg_dump.
  # checkov:skip=CKV_AWS_133: see above
  backup_retention_period      = 0
  skip_final_snapshot          = true
  copy_tags_to_snapshot        = true
  delete_automated_backups     = true
  deletion_protection          = true
  auto_minor_version_upgrade   = true
  performance_insights_enabled = false
}
